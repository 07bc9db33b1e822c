-- Users and API keys have idempotency keys, so no foreign key deletes these.
create or replace function delete_idempotency_keys() returns trigger language plpgsql as $$
  begin
    delete from idempotency_key where user_id = old.id;
    return null;
  end $$;
create or replace trigger delete_idempotency_keys_of_user after delete on "user" for each row execute function delete_idempotency_keys();
create or replace trigger delete_idempotency_keys_of_api_key after delete on api_key for each row execute function delete_idempotency_keys();
