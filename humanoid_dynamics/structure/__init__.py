"""How links hang together: four pointers per link, virtual links, connect, cut, events; and the trees that go with them."""
