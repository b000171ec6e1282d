"""What machines boot from: a URN of the marketplace, or the id of an image."""

from __future__ import annotations

from dataclasses import dataclass

from butler.errors import MachineRejected

from .api import COMPUTE, GALLERIES, Arm, Object
from .section import NAME, Settings

_MARKET = "Microsoft.Compute/locations"


@dataclass(frozen=True, slots=True)
class Image:
    """An image as a ProviderConfig or an order names it."""

    text: str

    @property
    def is_urn(self) -> bool:
        return not self.text.startswith("/") and self.text.count(":") == 3

    def reference(self, about: str) -> Object:
        """How the body of a VM says it. Raises MachineRejected."""
        if self.is_urn:
            return dict(zip(("publisher", "offer", "sku", "version"), self.text.split(":"), strict=True))
        lowered = self.text.lower()
        if lowered.startswith("/communitygalleries/"):
            return {"communityGalleryImageId": self.text}
        if lowered.startswith("/sharedgalleries/"):
            return {"sharedGalleryImageId": self.text}
        if lowered.startswith("/subscriptions/"):
            return {"id": self.text}
        if not self.text:
            raise MachineRejected(NAME, about, "neither the request nor spec.azure.imageURN names an image")
        message = f"image {self.text!r} is neither publisher:offer:sku:version nor the id of an image"
        raise MachineRejected(NAME, about, message)

    @property
    def is_managed(self) -> bool:
        """Whether it is an image of its own, and none of a gallery."""
        return "/providers/microsoft.compute/images/" in self.text.lower()


async def shown(arm: Arm, settings: Settings, image: Image, about: str = "") -> Object | None:
    """The image as Azure has it; None for one that does not exist. For a gallery it is the definition, which has the
    facts, and not one of its versions."""
    if image.is_urn:
        return await _in_market(arm, settings, image, about)
    parts = image.text.strip("/").split("/")
    market = f"/subscriptions/{settings.subscription}/providers/{_MARKET}/{settings.location}"
    if parts[0].lower() in ("communitygalleries", "sharedgalleries"):
        return await arm.get(f"{market}/{parts[0]}/{parts[1]}/images/{parts[3]}", GALLERIES, about)
    if image.is_managed:
        return await arm.get(image.text, COMPUTE, about)
    versioned = image.text.lower().find("/versions/")
    if versioned >= 0 and await arm.get(image.text, GALLERIES, about) is None:
        return None
    return await arm.get(image.text[:versioned] if versioned >= 0 else image.text, GALLERIES, about)


def plan_of(found: Object | None) -> Object | None:
    """What the VM has to say for an image that someone sells, even for nothing."""
    plan = (found or {}).get("properties", {}).get("plan")
    return {name: plan[name] for name in ("name", "publisher", "product")} if plan else None


async def _in_market(arm: Arm, settings: Settings, image: Image, about: str) -> Object | None:
    publisher, offer, sku, version = image.text.split(":")
    place = f"/subscriptions/{settings.subscription}/providers/{_MARKET}/{settings.location}"
    versions = f"{place}/publishers/{publisher}/artifacttypes/vmimage/offers/{offer}/skus/{sku}/versions"
    if version.lower() == "latest":
        found = await arm.array(versions, COMPUTE, about, top="1", orderby="name desc")
        if not found:
            return None
        version = found[0]["name"]
    return await arm.get(f"{versions}/{version}", COMPUTE, about)
