"""The driver `iceberg` of the cold store: one Iceberg table in files of Parquet, on S3 or in a folder.

Nothing but `driver` may be imported at start: pyarrow, pyiceberg and SQLAlchemy cost 150 MB, so they are imported in
the worker threads of a process that uses the cold tier, at its first use.
"""
