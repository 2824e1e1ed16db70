"""A small real vocabulary for the tests of this folder."""

from functools import cache

from model.editing.tokenizer import train
from training.data.line_cache import CachingTokenizer

SAMPLE = """
import logging

class Reader:
    def __init__(self, path, limit=10):
        self.path = path
        self.limit = limit

    def read(self, name):
        value = self.load(name, self.limit)
        print("loaded", name)
        return {"name": name, "value": value}

    def load(self, name, limit):
        print("loading", name)
        value = open(self.path).read(limit)
        return {"name": name, "limit": limit}

def main():
    reader = Reader("a.txt", limit=3)
    value = reader.read("one")
    value = reader.read("two")
    print("done", value)
"""


@cache
def small_tokenizer() -> CachingTokenizer:
    return CachingTokenizer(train([SAMPLE], 400).json)
