"""Keeps the results, compares them with the budgets, and renders them as a page with plots."""
