"""One side of compat-tests/exchange: sends the samples of a file to a topic, or receives what a subscription has and prints
it, one message a line, in the form of samples.json.

    python exchange.py send FILE TOPIC
    python exchange.py receive COUNT TOPIC SUBSCRIPTION
"""

import base64
import datetime
import json
import os
import sys
import uuid

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusReceiveMode
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageHeader, AmqpMessageProperties

UTC = datetime.timezone.utc
NAMES = {"correlationId": "correlation_id", "subject": "subject", "contentType": "content_type", "to": "to", "replyTo": "reply_to",
         "replyToSessionId": "reply_to_session_id", "sessionId": "session_id", "partitionKey": "partition_key"}


def native(value):
    """A value of the samples, as a program of this SDK has it."""
    [(kind, v)] = value.items()
    return {
        "null": lambda: None, "uuid": lambda: uuid.UUID(v), "binary": lambda: base64.b64decode(v),
        "time": lambda: datetime.datetime.fromtimestamp(v // 1000, UTC) + datetime.timedelta(milliseconds=v % 1000),
        "list": lambda: [native(x) for x in v], "map": lambda: natives(v),
    }.get(kind, lambda: v)()


def natives(values):
    return {key: native(v) for key, v in (values or {}).items()}


def text(v):
    return v.decode() if isinstance(v, bytes) else v


def shown(v):
    """What the SDK shows of a value. It shows texts as bytes."""
    match v:
        case None:
            return {"null": True}
        case bool():
            return {"bool": v}
        case int():
            return {"int": v}
        case float():
            return {"double": v}
        case bytes():
            return {"binary": base64.b64encode(v).decode()}
        case str():
            return {"string": v}
        case uuid.UUID():
            return {"uuid": str(v)}
        case datetime.datetime():
            return {"time": round(v.timestamp() * 1000)}
        case list():
            return {"list": [shown(x) for x in v]}
        case dict():
            return {"map": showns(v)}
    return {"unknown": repr(v)}


def showns(values):
    return {text(key): shown(v) for key, v in (values or {}).items()}


def message(sample):
    body = sample.get("body", {})
    data = [base64.b64decode(d) for d in body.get("data", [""])]
    raw = {key: sample[key] for key in ("header", "annotations", "footer") if key in sample}
    if not raw and len(data) == 1 and "data" in body or not body and not raw:
        properties = {NAMES[key]: v for key, v in sample.get("properties", {}).items()}
        return ServiceBusMessage(data[0], message_id=sample["id"], application_properties=natives(sample.get("app")) or None, **properties)
    if "value" in body:
        content = {"value_body": native(body["value"])}
    elif "sequence" in body:
        content = {"sequence_body": [[native(v) for v in section] for section in body["sequence"]]}
    else:
        content = {"data_body": data}
    header = AmqpMessageHeader(**raw["header"]) if "header" in raw else None
    return AmqpAnnotatedMessage(header=header, properties=AmqpMessageProperties(message_id=sample["id"]),
                                annotations=natives(raw.get("annotations")), footer=natives(raw.get("footer")), **content)


def body_of(message):
    match message.body_type.value:
        case "value":
            return {"value": shown(message.body)}
        case "sequence":
            return {"sequence": [[shown(v) for v in section] for section in message.body]}
    return {"data": [base64.b64encode(d).decode() for d in message.body]}


def canonical(m):
    raw = m.raw_amqp_message
    return {
        "id": m.message_id, "properties": {key: getattr(m, name) for key, name in NAMES.items() if getattr(m, name) is not None},
        "app": showns(m.application_properties), "body": body_of(m),
        "header": {"durable": bool(raw.header.durable), "priority": raw.header.priority if raw.header.priority is not None else 4},
        "annotations": showns(raw.annotations), "footer": showns(raw.footer),
    }


def main(role, what, topic, subscription=None):
    with ServiceBusClient.from_connection_string(os.environ["MINIBUS_CONNECTION_STRING"], retry_total=0) as client:
        if role == "send":
            with open(what) as samples, client.get_topic_sender(topic, keep_alive=0) as sender:
                for sample in json.load(samples):
                    sender.send_messages(message(sample))
            return
        mode = ServiceBusReceiveMode.RECEIVE_AND_DELETE
        with client.get_subscription_receiver(topic, subscription, receive_mode=mode, keep_alive=0) as receiver:
            left = int(what)
            while left:
                got = receiver.receive_messages(left, max_wait_time=20)
                if not got:
                    sys.exit(f"{left} messages did not come")
                left -= len(got)
                for m in got:
                    print(json.dumps(canonical(m)))


main(*sys.argv[1:])
