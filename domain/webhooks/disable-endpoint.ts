import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { recordAudit, systemActor } from '../audit.ts';
import { mailOwners } from '../organizations/mail-owners.ts';
import { quoteName } from '../quote-name.ts';

/** After so many hours in which every delivery has failed an endpoint is disabled. Longer than the attempts of one delivery take. */
const hopelessHours = 5 * 24;

interface FailedEndpoint {
  endpointId: string;
  /** The address that failed. */
  url: string;
  gone: boolean;
}

/** Disables an endpoint that is gone, or has failed for five days, and writes to the owners of its organization; once. */
export async function disableIfFailing(trx: Transaction, { endpointId, url: failed, gone }: FailedEndpoint): Promise<void> {
  const reason = gone ? 'gone' : 'failing';
  const disabled = await trx
    .updateTable('webhook_endpoint')
    .set({ enabled: false, disabled_reason: reason, updated_at: sql`clock_timestamp()` })
    .where('id', '=', endpointId)
    .where('enabled', '=', true)
    .where('url', '=', failed)
    .$if(!gone, (query) => query.where('failing_since', '<', sql<Date>`now() - make_interval(hours => ${sql.lit(hopelessHours)})`))
    .returning(['organization_id', 'url'])
    .executeTakeFirst();
  if (!disabled) return;
  const { organization_id: organizationId, url } = disabled;
  await recordAudit(trx, systemActor, { organizationId, action: 'webhook.disable', targetId: endpointId, metadata: { url, reason } });
  await mailOwners(trx, organizationId, (organization) => ({
    kind: 'webhook-disabled',
    subject: 'A webhook endpoint was disabled',
    text: textOf(organization, url, gone),
  }));
}

function textOf(organization: string, url: string, gone: boolean): string {
  const why = gone ? 'It answered 410, which means that it is gone.' : 'Everything that was sent to it in the last five days has failed.';
  return `The webhook endpoint ${url} of ${quoteName(organization)} was disabled. ${why}\n\nEnable it again when it is repaired. What failed before can be sent again for 30 days; what happens while it is disabled is not kept.\n`;
}
