"""The main path of the data plane over WS and WSS, with both clients."""

import unittest

import bus
import test_transports


class Synchronous(test_transports.Paths):
    @bus.proves("conn.ws")
    def test_plain(self):
        self.main_path("ws")

    @bus.proves("conn.wss")
    def test_secure(self):
        self.main_path("wss")


class Asynchronous(test_transports.AsyncPaths):
    async def test_plain(self):
        await self.main_path("ws")

    async def test_secure(self):
        await self.main_path("wss")


if __name__ == "__main__":
    unittest.main()
