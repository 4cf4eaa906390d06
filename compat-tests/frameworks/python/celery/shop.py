"""A shop's tasks, as an application of Celery has them. CELERY_BROKER_URL, which Celery reads itself, says where the broker is."""

import os
import pathlib
import time

from celery import Celery

app = Celery("shop", backend="rpc://")
app.conf.broker_transport_options = {
    "peek_lock_seconds": 5,  # short, so that a test sees locks end
    "use_lock_renewal": True,
    "wait_time_seconds": 1,  # the worker asks its queues in turn and waits so long at each
}
app.conf.task_routes = {"shop.bill": {"queue": "bills"}}

journal = pathlib.Path(os.environ["SHOP_JOURNAL"])


@app.task
def price(pieces, each):
    return pieces * each


@app.task
def total(prices):
    return sum(prices)


@app.task
def bill(customer):
    return f"a bill for {customer}"


@app.task(bind=True, autoretry_for=(ConnectionError,), default_retry_delay=1)
def reserve(self):
    """Fails twice."""
    if self.request.retries < 2:
        raise ConnectionError("the stock does not answer")
    return self.request.retries


@app.task(acks_late=True)
def pack(seconds):
    """Notes when it begins and when it ends."""
    with journal.open("a") as file:
        print("begin", file=file, flush=True)
        time.sleep(seconds)
        print("end", file=file)
