"""ServiceBusAdministrationClient: rules with filters and actions of every kind, and values of every type."""

import datetime
import unittest

import bus
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.servicebus.management import CorrelationRuleFilter, FalseRuleFilter, SqlRuleAction, SqlRuleFilter, TrueRuleFilter

VALUES = {
    "string": "text <&> \u20ac", "int": -7, "long": 2**40, "double": 1.5, "true": True, "false": False,
    "time": datetime.datetime(2030, 1, 2, 3, 4, 5), "utc": datetime.datetime(2030, 1, 2, tzinfo=datetime.timezone.utc),
    "span": datetime.timedelta(days=1, minutes=2),
}
PARAMETERS = {"@" + key: value for key, value in VALUES.items()}

FILTERS = [
    TrueRuleFilter(),
    FalseRuleFilter(),
    SqlRuleFilter("color = 'red' AND size > 5"),
    SqlRuleFilter("a = @string OR b = @int OR c = @long OR d = @double OR e = @true OR f = @false", PARAMETERS),
    CorrelationRuleFilter(
        correlation_id="c", message_id="m", to="t", reply_to="r", label="l", session_id="s", reply_to_session_id="rs",
        content_type="ct", properties=VALUES),
    CorrelationRuleFilter(label="only this"),
]


def plain(part):
    """A filter or action as what it says. The SDK answers no values with an empty map; what is always true or false says
    so in words that differ.
    """
    if isinstance(part, (TrueRuleFilter, FalseRuleFilter)):
        return {"type": type(part).__name__}
    return part and {"type": type(part).__name__,
                     **{key: dict(value) if isinstance(value, dict) and value else value or None
                        for key, value in vars(part).items() if key != "requires_preprocessing"}}


class Rules(bus.Case):
    def setUp(self):
        super().setUp()
        self.path = (self.topic("s"), "s")

    @bus.proves("admin.ruledefault")
    def test_default(self):
        [rule] = self.admin.list_rules(*self.path)
        self.assertEqual((rule.name, plain(rule.filter), rule.action), ("$Default", plain(TrueRuleFilter()), None))
        self.assertLess(abs(rule.created_at_utc - datetime.datetime.now(datetime.timezone.utc)), datetime.timedelta(minutes=1))

    @bus.proves("admin.rulesql", "admin.rulecorrelation", "admin.rulelist")
    def test_filters(self):
        for i, given in enumerate(FILTERS):
            with self.subTest(filter=plain(given)):
                created = self.admin.create_rule(*self.path, f"r{i}", filter=given)
                self.assertEqual(plain(created.filter), plain(given))
                got = self.admin.get_rule(*self.path, f"r{i}")
                self.assertEqual((got.name, plain(got.filter), got.action), (f"r{i}", plain(given), None))
        listed = {rule.name: plain(rule.filter) for rule in self.admin.list_rules(*self.path, max_page_size=2)}
        self.assertEqual(listed, {"$Default": plain(TrueRuleFilter()), **{f"r{i}": plain(f) for i, f in enumerate(FILTERS)}})

    @bus.proves("admin.ruleaction")
    def test_actions(self):
        for i, given in enumerate([SqlRuleAction("SET a = 'b'; REMOVE c"), SqlRuleAction("SET a = @string", PARAMETERS)]):
            with self.subTest(action=plain(given)):
                self.admin.create_rule(*self.path, f"r{i}", action=given)
                got = self.admin.get_rule(*self.path, f"r{i}")
                self.assertEqual((plain(got.filter), plain(got.action)), (plain(TrueRuleFilter()), plain(given)))

    @bus.proves("admin.rule")
    def test_update(self):
        rule = self.admin.create_rule(*self.path, "r", filter=FILTERS[2], action=SqlRuleAction("SET a = 1"))
        rule.filter = FILTERS[4]
        self.admin.update_rule(*self.path, rule)
        got = self.admin.get_rule(*self.path, "r")
        self.assertEqual((plain(got.filter), plain(got.action)), (plain(FILTERS[4]), plain(SqlRuleAction("SET a = 1"))))
        self.admin.update_rule(*self.path, {**dict(got), "filter": FILTERS[5]}, action=None)
        got = self.admin.get_rule(*self.path, "r")
        self.assertEqual((plain(got.filter), got.action), (plain(FILTERS[5]), None))

    @bus.proves("admin.ruleerrors")
    def test_exists_and_not_found(self):
        rule = self.admin.create_rule(*self.path, "r")
        with self.assertRaises(ResourceExistsError):
            self.admin.create_rule(*self.path, "r")
        self.admin.delete_rule(*self.path, "r")
        for call in (self.admin.get_rule, self.admin.delete_rule):
            with self.subTest(call=call.__name__), self.assertRaises(ResourceNotFoundError):
                call(*self.path, "r")
        with self.assertRaises(ResourceNotFoundError):
            self.admin.update_rule(*self.path, rule)
        with self.assertRaises(ResourceNotFoundError):
            self.admin.create_rule(self.path[0], "none", "r")

    def test_refused(self):
        bad = [{"filter": SqlRuleFilter("color = ")}, {"filter": SqlRuleFilter("a = = 1")}, {"action": SqlRuleAction("DROP TABLE x")}]
        for given in bad:
            with self.subTest(**given), self.assertRaises(HttpResponseError) as caught:
                self.admin.create_rule(*self.path, "bad", **given)
            self.assertEqual(caught.exception.status_code, 400)
            self.assertIn("There was an error parsing the SQL expression", caught.exception.message)


if __name__ == "__main__":
    unittest.main()
