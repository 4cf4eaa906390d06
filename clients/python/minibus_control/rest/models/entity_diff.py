from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.entity_diff_action import EntityDiffAction
from ..models.entity_diff_kind import EntityDiffKind
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.setting_diff import SettingDiff





T = TypeVar("T", bound="EntityDiff")



@_attrs_define
class EntityDiff:
    """ 
        Attributes:
            action (EntityDiffAction):
            kind (EntityDiffKind):
            path (str):
            settings (list[SettingDiff] | Unset): Of an entity that exists, those that differ
            why (str | Unset): Why it is refused
     """

    action: EntityDiffAction
    kind: EntityDiffKind
    path: str
    settings: list[SettingDiff] | Unset = UNSET
    why: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.setting_diff import SettingDiff # noqa: PLC0415
        action = self.action.value

        kind = self.kind.value

        path = self.path

        settings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.settings, Unset):
            settings = []
            for settings_item_data in self.settings:
                settings_item = settings_item_data.to_dict()
                settings.append(settings_item)



        why = self.why


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "action": action,
            "kind": kind,
            "path": path,
        })
        if settings is not UNSET:
            field_dict["settings"] = settings
        if why is not UNSET:
            field_dict["why"] = why

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.setting_diff import SettingDiff # noqa: PLC0415
        d = dict(src_dict)
        action = EntityDiffAction(d.pop("action"))




        kind = EntityDiffKind(d.pop("kind"))




        path = d.pop("path")

        _settings = d.pop("settings", UNSET)
        settings: list[SettingDiff] | Unset = UNSET
        if _settings is not UNSET:
            settings = []
            for settings_item_data in _settings:
                settings_item = SettingDiff.from_dict(settings_item_data)



                settings.append(settings_item)


        why = d.pop("why", UNSET)

        entity_diff = cls(
            action=action,
            kind=kind,
            path=path,
            settings=settings,
            why=why,
        )

        return entity_diff

