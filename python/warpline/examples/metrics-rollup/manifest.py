from warpline import PluginManifest

manifest = PluginManifest.parse(
    {
        "name": "metrics-rollup",
        "version": "1.0.0",
        "description": "Keeps the rows of a metrics file and sums them up by week",
        "autonomy_level": "autonomous",
        "side_effects": [],
        "ttl_hours": 12,
        "schedule": "on_run",
        "timeout_ms": 30_000,
        "max_retries": 0,
        "inputs": {
            "metrics_path": {
                "type": "string",
                "required": False,
                "description": "File with a JSON array of {at, name, value}; a relative path counts from the home; a sample while there is none",
            },
            "retention_days": {
                "type": "number",
                "default": 90,
                "description": "How long rows are kept, also when the file has dropped them",
            },
        },
        "outputs": {
            "rollup": {
                "type": "metrics-rollup",
                "description": "Count, sum, extremes and mean of each metric in each week, newest week first",
                "temporality": "replace",
            },
        },
    }
)
