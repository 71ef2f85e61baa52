"""An agent for the tests of `exec:` that keeps the protocol, or breaks it in the way that its argument names."""

import json
import os
import sys
import time

FOREVER = 1000.0


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def lowest(asked):
    return {"id": asked["id"], "action": asked["legal"][0]}


def hello(way):
    """Answer the hello; is it worth going on?"""
    sys.stdin.readline()
    if way == "dies at the start":
        sys.exit("no licence")
    if way == "says no hello":
        time.sleep(FOREVER)
    if way == "says garbage for a hello":
        print("Loading the model...", flush=True)
    elif way == "speaks another protocol":
        say({"hello": "hearts-agent/2", "name": "x", "ready": True})
    elif way == "is not ready":
        say({"name": "x", "ready": False, "error": "only four players"})
    else:
        say({"name": way, "ready": True})
        if way == "speaks before it is asked":
            say({"id": 999, "action": "2C"})


def main(way):
    hello(way)
    waiting = []
    for number, line in enumerate(sys.stdin):
        asked = json.loads(line)
        if "bye" in asked:
            if way == "ignores the bye":
                time.sleep(FOREVER)
            break
        if number == 20:
            misbehave(way, asked)
        if way == "answers in the opposite order":
            # As many as there are tables in the test.
            waiting.append(lowest(asked))
            if len(waiting) == 12:
                for answer in reversed(waiting):
                    say(answer)
                waiting = []
            continue
        if way == "writes complaints all the time":
            sys.stderr.write("warning: " + "x" * 1000 + "\n")
        if way == "pads its answers":
            say({**lowest(asked), "comment": "x" * 2000})
        elif way == "is always illegal":
            say({"id": asked["id"], "action": "add"})
        else:
            say(lowest(asked))


def misbehave(way, asked):
    if way == "answers a wrong id":
        say({"id": asked["id"] + 1000, "action": "2C"})
    elif way == "answers twice":
        say(lowest(asked))
    elif way == "writes garbage":
        print("{nonsense", flush=True)
    elif way == "names no card":
        say({"id": asked["id"], "action": "1C"})
    elif way == "writes a huge line":
        sys.stdout.write("x" * 1_000_000)
        sys.stdout.flush()
        time.sleep(FOREVER)
    elif way == "dies in the middle":
        sys.exit("segmentation fault, more or less")
    elif way == "is silent":
        time.sleep(FOREVER)
    elif way == "closes its output":
        os.close(1)
        time.sleep(FOREVER)
    elif way == "leaves a child behind":
        if os.fork() == 0:
            time.sleep(FOREVER)
        os._exit(3)


main(sys.argv[1])
