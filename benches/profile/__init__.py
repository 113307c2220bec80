"""Commands that each answer one question about probelet alone: its instructions, its stacks, its peaks."""
