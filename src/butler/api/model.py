"""What all kinds of Butler have in common: their group, and the scalar types they are written with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

import kubekit.model.resource
from kubekit.model.resource import remark

GROUP = "butler.butlerlabs.dev"
VERSION = "v1alpha1"
SIMULATED = f"{GROUP}/simulated"
"""Marks nodes and pods behind which nothing runs."""
MOST_PODS = 500
"""Of one tenant, whatever it makes and its workloads ask for: the pods of all tenants live in one process, and those
that no node takes would only wait."""
AGENT = "butler"
"""Who writes, where nothing says it more exactly."""
PART_OF = {"app.kubernetes.io/part-of": "butler"}
"""What every definition that Butler installs carries."""
DOES_NOT_ACT = "Does not act yet."
REFUSED_UNLESS_DEFAULT = "Anything but the default is refused for now."
NOT_YET, REFUSED = remark(DOES_NOT_ACT), remark(REFUSED_UNLESS_DEFAULT)
"""Marks of fields, or of a whole spec, that nothing reads yet or of which nothing else is accepted. All others act:
`butler.api.fields` has the lists, and every field is tried in `tests/fields`."""


class Resource(kubekit.model.resource.Resource, group=GROUP, version=VERSION, labels=PART_OF):
    """A kind of Butler: subclass it with `plural=…`, a `spec` and, if it has one, a `status`."""


Duration = str
"""A Go duration such as `4h` or `1h30m`; see `butler.api.units`."""
Values = Mapping[str, Any]
"""Free-form Helm values."""
Percent = Annotated[int, Meta(ge=0, le=100)]
Port = Annotated[int, Meta(ge=1, le=65535)]
DnsLabel = Annotated[str, Meta(min_length=1, max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
HttpUrl = Annotated[str, Meta(pattern=r"^https?://")]
KubernetesVersion = Annotated[str, Meta(pattern=r"^v\d+\.\d+\.\d+$")]
Cidr = Annotated[str, Meta(pattern=r"^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$")]
IPv4 = Annotated[str, Meta(pattern=r"^([0-9]{1,3}\.){3}[0-9]{1,3}$")]
