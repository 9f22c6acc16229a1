"""The agent: one small process on each host of a job, parent of all its workers there.

The launcher sends these files as text to a bare Python (see driver/bundle.py), so a host needs no
horovod for its agent. They use the standard library only, import little, and run on Python 3.8.

The agent starts workers, passes on what they write, and reports how they end. When its standard
input ends, because the launcher ended or was killed or a network connection was lost, it ends every
process below itself: SIGTERM, five seconds, SIGKILL.
"""
