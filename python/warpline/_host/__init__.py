"""The Python side of the host contract: runs plugin code when the engine asks, and answers once."""
