"""The messages of the service and of files (docs/protocol.md), as Protobuf classes."""
