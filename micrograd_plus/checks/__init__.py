"""The promises that every operation keeps, the small calls they are tried on, and rules that break them."""
