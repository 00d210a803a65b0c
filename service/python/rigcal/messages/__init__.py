"""The Protobuf messages of the service and of files (docs/protocol.md)."""
