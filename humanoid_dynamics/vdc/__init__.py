"""Virtual decomposition: the same dynamics cut into links and joints, each with its own small equation [BP, sec. 3.2]."""
