"""The stress method of KEP-4603: nodes full of crashing containers, in virtual time and for real."""
