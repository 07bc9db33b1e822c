-- A refund is of the workspace, and of the user or API key, of its charge: what either has used in a month is then a plain sum.
create or replace function attribute_refund() returns trigger language plpgsql as $$
  begin
    select workspace_id, actor_id into new.workspace_id, new.actor_id
      from credit_entry where key = regexp_replace(new.key, 'refund$', 'charge');
    return new;
  end $$;
create or replace trigger attribute_refund before insert on credit_entry for each row when (new.amount < 0) execute function attribute_refund();
