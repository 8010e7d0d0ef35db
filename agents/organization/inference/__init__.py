"""How a lab infers who reported. One inference rule a file."""
