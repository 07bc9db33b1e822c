import { contract } from '../../contract/index.ts';
import type { ApiDeps } from '../deps.ts';
import { procedure } from '../procedure.ts';
import { readSystemStatus } from '../system-status.ts';

export function adminSystemProcedures(deps: ApiDeps) {
  return { status: procedure(contract.admin.system.status, () => readSystemStatus(deps)) };
}
