"""Names of the message headers that Cortex reads or writes."""

from __future__ import annotations

from typing import Final

MESSAGE_ID: Final = "Nats-Msg-Id"
"""Identity of a message: JetStream drops a second one inside the stream's duplicate window, the inbox one for good."""

ORIGINAL_MESSAGE_ID: Final = "Cortex-Message-Id"
"""Set by a dead-letter replay: the identity the message had first. It wins over `Nats-Msg-Id`, which a replay changes
so that the duplicate window does not swallow it."""

TRACEPARENT: Final = "traceparent"
"""W3C trace context, carried through every hop."""

CALL: Final = "Cortex-Call"
"""Identity of one call of a cancellable RPC: 32 random hexadecimal digits, known to its caller and its server."""

DLQ_SUBJECT: Final = "Cortex-Dlq-Subject"
DLQ_STREAM: Final = "Cortex-Dlq-Stream"
DLQ_SEQUENCE: Final = "Cortex-Dlq-Sequence"
DLQ_CONSUMER: Final = "Cortex-Dlq-Consumer"
DLQ_DELIVERIES: Final = "Cortex-Dlq-Deliveries"
DLQ_REASON: Final = "Cortex-Dlq-Reason"
DLQ_AT: Final = "Cortex-Dlq-At"
