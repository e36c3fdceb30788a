"""Writes the lines that test/support/exclusion-log.ts reads: one write in append mode each, CLOCK_MONOTONIC in front."""
import os
import time

BEAT_S = 0.003


class ExclusionLog:
    def __init__(self, paths):
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._files = [os.open(path, flags, 0o644) for path in paths]

    def work(self, name, kind, token, ticket, seconds):
        """One interval: begin, beats, end. Whoever is killed leaves no end, but beats until then."""
        until = time.monotonic_ns() + int(seconds * 1e9)
        self._write("begin", "%s %s %s %s" % (name, kind, token, ticket))
        while True:
            left = (until - time.monotonic_ns()) / 1e9
            if left <= 0:
                break
            time.sleep(min(BEAT_S, left))
            self._write("beat", name)
        self._write("end", name)

    def _write(self, verb, rest):
        for file in self._files:
            os.write(file, b"%s %d %s\n" % (verb.encode(), time.monotonic_ns(), rest.encode()))
