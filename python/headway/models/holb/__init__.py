"""First-order models of head-of-line blocking and of what relieves it.

`LossRecovery`: how long a lost message is missing. `Signalling`: delays of messages and of
SIP calls over ordered, streamed, unordered and parallel transports. `MediaRecovery`: packets
at a fixed interval. docs/models.md derives them.
"""

from headway.models.holb.blocking import blockers, blockers_of_others
from headway.models.holb.delay import MessageDelay, Signalling, clean_threshold
from headway.models.holb.media import MediaRecovery
from headway.models.holb.recovery import LossRecovery, loss_threshold, lossless_probability

__all__ = [
    "LossRecovery",
    "MediaRecovery",
    "MessageDelay",
    "Signalling",
    "blockers",
    "blockers_of_others",
    "clean_threshold",
    "loss_threshold",
    "lossless_probability",
]
