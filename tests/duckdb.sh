# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Installs DuckDB from npm in ~/.cache/htmtrace/duckdb, and runs SQL in it.
# shellcheck source=tests/machine/paths.sh
. "$(dirname "${BASH_SOURCE[0]}")/machine/paths.sh"

# need_duckdb: installs DuckDB, once.
need_duckdb() {
    duckdb=$cache/duckdb
    if [[ ! -d $duckdb/node_modules ]]; then
        command -v npm >/dev/null || {
            echo "${0##*/}: cannot find npm" >&2
            echo "  hint: apt-get install npm" >&2
            exit 1
        }
        mkdir -p "$duckdb"
        (cd "$duckdb" && npm install --no-audit --no-fund @duckdb/node-api)
    fi
    cat >"$duckdb/query.mjs" <<'END'
import { DuckDBInstance } from '@duckdb/node-api';
const [script, file = ':memory:'] = process.argv.slice(2);
const connection = await (await DuckDBInstance.create(file)).connect();
const reader = await connection.runAndReadAll(script);
for (const row of reader.getRowsJson()) console.log(row.join('|'));
END
}

# query_duckdb SQL [DATABASE]: prints the rows of the last statement, with "|" between the values.
query_duckdb() { node "$duckdb/query.mjs" "$@"; }
