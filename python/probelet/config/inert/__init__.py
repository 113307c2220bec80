"""Fields and gates that a configuration may hold and that change nothing here."""
