"""Helm, as far as Butler needs it: charts become releases in a cluster, are looked after, and go again.

`protocol` is what controllers know; `engine` is what stands behind it. Helm itself runs only when something is to
change: what a release is, whether it drifted and how its objects are doing is read by our own client."""
