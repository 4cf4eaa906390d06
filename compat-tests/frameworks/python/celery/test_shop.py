"""Celery's client and worker, with kombu's transport azureservicebus. The worker is a process, with Celery's default pool."""

import os
import signal
import subprocess
import sys
import time
import unittest

import shop
from celery import chain, group
from celery.exceptions import TimeoutError as NoResult

WAIT = 60  # seconds for what is certain to come
LOCK = shop.app.conf.broker_transport_options["peek_lock_seconds"]


class Worker:
    """A worker in a process group of its own."""

    def __init__(self):
        command = [sys.executable, "-m", "celery", "-A", "shop", "worker", "-c", "2", "-Q", "celery,bills", "-l", "warning"]
        self.process = subprocess.Popen(command, cwd=os.path.dirname(__file__) or None, stdout=sys.stderr, start_new_session=True)

    def stop(self):
        """Ends the worker as an orchestrator does: it finishes its tasks."""
        self.process.terminate()
        return self.process.wait(WAIT)

    def kill(self):
        """Ends the worker and the processes of its pool at once, unless it has ended."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(WAIT)


def result(task, wait=WAIT):
    return task.get(timeout=wait)


def noted():
    return shop.journal.read_text().split() if shop.journal.exists() else []


class Shop(unittest.TestCase):
    def setUp(self):
        shop.journal.unlink(missing_ok=True)

    def begin(self):
        worker = Worker()
        self.addCleanup(worker.kill)
        return worker

    def depth(self, queue):
        """How many messages the broker counts."""
        with shop.app.connection_for_read() as connection:
            return connection.default_channel.queue_declare(queue, passive=True).message_count

    def test_tasks(self):
        worker = self.begin()
        packing = shop.pack.delay(LOCK * 2 + 1)
        with self.subTest("results, in the order of the calls"):
            tasks = [shop.price.delay(n, 2) for n in range(10)]
            self.assertEqual([result(t) for t in tasks], [n * 2 for n in range(10)])
        with self.subTest("large arguments and results, beyond ASCII"):
            name = "Zoë " * 20_000
            self.assertEqual(result(shop.bill.delay(name)), f"a bill for {name}")
        with self.subTest("a task comes no earlier than its countdown"):
            start = time.monotonic()
            self.assertEqual(result(shop.price.apply_async((3, 3), countdown=2)), 9)
            self.assertGreaterEqual(time.monotonic() - start, 2)
        with self.subTest("a task that fails is tried again"):
            self.assertEqual(result(shop.reserve.delay()), 2)
        with self.subTest("a chain behind a group"):
            prices = [result(t) for t in group(shop.price.s(n, 10) for n in (1, 2))()]
            self.assertEqual(result(chain(shop.total.s(prices), shop.price.s(2))()), 60)
        with self.subTest("the lock of a task is renewed while it runs"):
            result(packing)
            self.assertEqual(noted(), ["begin", "end"])
        self.assertEqual(worker.stop(), 0)
        self.assertEqual((self.depth("celery"), self.depth("bills")), (0, 0))

    def test_a_task_survives_its_worker(self):
        first = self.begin()
        task = shop.pack.delay(LOCK)
        end = time.monotonic() + WAIT
        while not noted() and time.monotonic() < end:
            time.sleep(0.1)
        first.kill()
        self.assertEqual(noted(), ["begin"])
        second = self.begin()
        result(task)
        self.assertEqual(second.stop(), 0)
        self.assertEqual(noted(), ["begin", "begin", "end"])

    def test_without_a_worker(self):
        tasks = [shop.price.delay(1, 1) for _ in range(3)]
        with self.assertRaises(NoResult):
            result(tasks[0], wait=1)
        self.assertEqual(self.depth("celery"), 3)
        self.assertEqual(shop.app.control.purge(), 3)
        self.assertEqual(self.depth("celery"), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
