"""Handler cases: loads them from files and checks them."""
