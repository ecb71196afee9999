"""Ask CloudWatch Logs Insights for what sessions left."""
