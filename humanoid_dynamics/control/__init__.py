"""From references and measured states to commands, with guards and limits on the way out."""
