import { join } from 'node:path';
import { createSupervisor } from '../../../../ops/local/supervise.ts';
import { findTemporalCli } from '../../../../ops/local/temporal-cli.ts';
import { buildGoProgram } from './go-program.ts';
import type { Recipe } from './recipe.ts';
import { RootDirectory, workDirectory } from './root-directory.ts';

/** As the published image starts: brings the schemas up to date, serves, and makes the namespace. */
const entrypoint = `#!/bin/sh
set -eu
host=$(hostname -i)
export SQL_PASSWORD="$POSTGRES_PWD"
bring() {
  tool="temporal-sql-tool --plugin $DB --endpoint $POSTGRES_SEEDS --port $DB_PORT --user $POSTGRES_USER --database $1"
  if [ "\${SKIP_DB_CREATE:-false}" != true ]; then $tool create-database; fi
  $tool setup-schema --version 0.0
  $tool update-schema --schema-name "postgresql/v12/$2"
}
bring "\${DBNAME:-temporal}" temporal
bring "\${VISIBILITY_DBNAME:-temporal_visibility}" visibility

store() {
  cat <<YAML
      sql:
        pluginName: $DB
        databaseName: $1
        connectAddr: $POSTGRES_SEEDS:$DB_PORT
        connectProtocol: tcp
        user: $POSTGRES_USER
        password: $POSTGRES_PWD
        maxConns: \${SQL_MAX_CONNS:-20}
        maxIdleConns: \${SQL_MAX_IDLE_CONNS:-20}
        maxConnLifetime: 1h
YAML
}
service() {
  cat <<YAML
  $1:
    rpc: { grpcPort: $2, membershipPort: $3, bindOnIP: $host }
YAML
}
mkdir -p /tmp/config
{
  cat <<YAML
log: { stdout: true, level: "\${LOG_LEVEL:-info}" }
persistence:
  defaultStore: default
  visibilityStore: visibility
  numHistoryShards: \${NUM_HISTORY_SHARDS:-4}
  datastores:
    default:
YAML
  store "\${DBNAME:-temporal}"
  echo '    visibility:'
  store "\${VISIBILITY_DBNAME:-temporal_visibility}"
  cat <<YAML
global:
  membership: { maxJoinDuration: 30s, broadcastAddress: $host }
services:
YAML
  service frontend 7233 6933
  service matching 7235 6935
  service history 7234 6934
  service worker 7239 6939
  cat <<YAML
clusterMetadata:
  enableGlobalNamespace: false
  failoverVersionIncrement: 10
  masterClusterName: active
  currentClusterName: active
  clusterInformation:
    active: { enabled: true, initialFailoverVersion: 1, rpcName: frontend, rpcAddress: "$host:7233" }
dcRedirectionPolicy: { policy: noop }
publicClient: { hostPort: "$host:7233" }
dynamicConfigClient: { filepath: "/etc/temporal/$DYNAMIC_CONFIG_FILE_PATH", pollInterval: 60s }
YAML
} >/tmp/config/production.yaml

(
  until temporal operator cluster health --address "$host:7233" 2>&1 | grep -q SERVING; do sleep 1; done
  if ! temporal operator namespace describe --namespace default --address "$host:7233" >/dev/null 2>&1; then
    temporal operator namespace create --namespace default --retention "\${DEFAULT_NAMESPACE_RETENTION:-24h}" --address "$host:7233"
  fi
) &
exec temporal-server --root / --config tmp/config --env production start
`;

/** Temporal's server of a version, with its schema tool and its CLI. */
export const makeTemporal = (version: string): Recipe => ({
  madeOf: `Debian, the Go module go.temporal.io/server ${version}, and Temporal's CLI, started as the published image is`,
  async make(name) {
    const server = await buildGoProgram('go.temporal.io/server/cmd/server', `v${version}`);
    const sqlTool = await buildGoProgram('go.temporal.io/server/cmd/tools/sql', `v${version}`);
    const root = await RootDirectory.create([]);
    root.copyProgram(server, '/usr/local/bin/temporal-server');
    root.copyProgram(sqlTool, '/usr/local/bin/temporal-sql-tool');
    root.copyProgram(await findCli(), '/usr/local/bin/temporal');
    root.write('/etc/temporal/entrypoint.sh', entrypoint, 0o755);
    await root.run('useradd', ['--uid', '1000', '--create-home', 'temporal']);
    await root.toImage(name, this.madeOf, [
      'USER temporal',
      'WORKDIR /etc/temporal',
      'EXPOSE 7233',
      'ENTRYPOINT ["/etc/temporal/entrypoint.sh"]',
      'CMD ["autosetup"]',
    ]);
  },
});

async function findCli(): Promise<string> {
  const supervisor = createSupervisor();
  const directory = workDirectory();
  try {
    return await findTemporalCli({ supervisor, logFile: join(directory, 'cli.log'), note: () => {} });
  } finally {
    await supervisor.close();
  }
}
