"""The RPCs that write documents: message in, use case, message out."""

from __future__ import annotations

from cortex_contracts.messages.documents import DocumentForgotten, DocumentRetained
from cortex_contracts.rpc.documents import ForgetDocumentRequest, RetainDocumentRequest
from cortex_ingest.documents import Documents


class DocumentRpc:
    """Serves `cortex.v1.rpc.ingest.retain_document` and `forget_document`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def retain(self, request: RetainDocumentRequest) -> DocumentRetained:
        """Remember a document, or its next text."""
        return await self._documents.retain(request.principal, request.document)

    async def forget(self, request: ForgetDocumentRequest) -> DocumentForgotten:
        """A document stops being true."""
        return await self._documents.forget(request.principal, request.namespace, request.document_id)
