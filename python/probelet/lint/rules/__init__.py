"""The rules, one file each, in folders by their subject. ``registry`` finds them."""
