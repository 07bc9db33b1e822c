import type { Db } from '../../db/connect.ts';

/** Stores for the triggers whether events are written for webhooks. Run it when the API starts. */
export async function syncWebhookSwitch(db: Db, isOn: boolean): Promise<void> {
  if (!isOn) await db.deleteFrom('webhook_switch').execute();
  else
    await db
      .insertInto('webhook_switch')
      .defaultValues()
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}
