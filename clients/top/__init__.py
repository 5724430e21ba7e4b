"""What `galloon top` watches and shows."""
