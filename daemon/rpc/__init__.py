"""The gRPC port: streams, management, health, and who may call."""
