"""Addons: what the catalogue offers, what one comes to in one cluster, and the hands that bring it there.

`model` is what controllers know; `resolution` turns an entry of the catalogue and a wish into a release; `installer`
has Helm do it. Whatever decides is pure; only the installer talks to anybody."""
