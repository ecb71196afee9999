"""Keep the guard's records: in memory, in an SQL database, or in DynamoDB; backends of one port and nothing else."""
