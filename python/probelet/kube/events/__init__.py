"""Events as client-go writes them: correlated, counted, limited, and never in the way of their cause."""
