-- A subscription whose first payment is still open is no change yet.
create or replace function after_subscription_change() returns trigger language plpgsql as $$
  declare
    row subscription := case tg_op when 'DELETE' then old else new end;
  begin
    if exists (select from organization where id = row."referenceId") then
      perform record_auth_change(row."referenceId", 'subscription.' || lower(replace(tg_op, 'INSERT', 'CREATE')),
        'subscription', row.id,
        jsonb_build_object('plan', row.plan, 'status', row.status, 'cancelAtPeriodEnd', row."cancelAtPeriodEnd",
          'cancelAt', to_char(row."cancelAt" at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
    end if;
    return null;
  end $$;
create or replace trigger after_subscription_delete after delete on subscription for each row
  when (old.status <> 'incomplete') execute function after_subscription_change();
create or replace trigger after_subscription_insert after insert on subscription for each row
  when (new.status <> 'incomplete') execute function after_subscription_change();
create or replace trigger after_subscription_update after update on subscription for each row
  when ((old.plan, old.status, old."cancelAtPeriodEnd", old."cancelAt")
      is distinct from (new.plan, new.status, new."cancelAtPeriodEnd", new."cancelAt")
    and new.status <> 'incomplete')
  execute function after_subscription_change();
