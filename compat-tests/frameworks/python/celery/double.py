"""Answers each line, a number, with its double, which a worker calculates. Client and worker live as long as the program."""

import sys

import shop
from test_shop import Worker, result

worker = Worker()
try:
    for line in sys.stdin:
        print(result(shop.price.delay(int(line), 2)), flush=True)
    sys.exit(worker.stop())
finally:
    worker.kill()
