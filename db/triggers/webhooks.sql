-- Every event that organizations are told of is written here, in the transaction of what happened: a delivery for each endpoint that asks
-- for it, and the intent that starts its workflow. `once` names what happens only once, so that no endpoint is told of it twice; null if
-- it may happen again. Costs a look into a small index if the organization has no endpoint.
-- Once three deliveries of the last minute have failed, and none was accepted since, an endpoint's deliveries are held; so is what comes
-- while others are.
create or replace function emit_webhook(of_organization text, what text, once text, what_data jsonb) returns void
  language plpgsql as $$
    declare
      new_event_id text := 'evt_' || replace((case when once is null then gen_random_uuid() else md5(of_organization || ' ' || once)::uuid end)::text, '-', '');
    begin
      with created as (
        insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event, data, held)
        select new_audit_id(), of_organization, endpoint.id, new_event_id, what,
          jsonb_build_object('organizationId', of_organization) || what_data,
          exists (select from webhook_delivery as other where other.endpoint_id = endpoint.id and other.held)
            or endpoint.failing_since is not null and 3 = (select count(*) from (
              select from webhook_delivery as other
              where other.endpoint_id = endpoint.id and other.created_at > now() - interval '1 minute' and other.error is not null limit 3
            ) as failed)
        from webhook_endpoint as endpoint
        where endpoint.organization_id = of_organization and endpoint.enabled and what = any (endpoint.events)
          and exists (select from webhook_switch)
          and exists (select from organization where organization.id = of_organization)
          and not exists (select from organization_deletion where organization_deletion.organization_id = of_organization)
        on conflict (endpoint_id, event_id) do nothing
        returning id, endpoint_id, held
      )
      insert into outbox (workflow_id, intent)
        select 'webhook-' || created.id, jsonb_build_object(
            'operation', 'start', 'workflow', 'deliverWebhook', 'workflowId', 'webhook-' || created.id,
            'input', jsonb_build_object('deliveryId', created.id, 'endpointId', endpoint_id, 'organizationId', of_organization))
          from created where not held;
    end $$;

create or replace function emit_job_ended() returns trigger language plpgsql as $$
  begin
    perform emit_webhook(new.organization_id, 'job.' || new.status, 'job ' || new.id, jsonb_build_object(
      'jobId', new.id, 'kind', new.kind, 'workspaceId', coalesce(new.workspace_id, new.former_workspace_id),
      'documentId', new.document_id));
    return null;
  end $$;
create or replace trigger emit_job_ended after update of status on job for each row
  when (old.status <> new.status and new.status in ('succeeded', 'failed', 'canceled'))
  execute function emit_job_ended();

-- Incomplete uploads emit no event, and neither do those that replace another document: that one is ready again with its next version.
create or replace function emit_document_changed() returns trigger language plpgsql as $$
  declare
    document document := case tg_op when 'DELETE' then old else new end;
    what text := case tg_op when 'DELETE' then 'document.deleted' else 'document.ready' end;
    once text := what || ' ' || document.id || case when document.version > 1 and tg_op <> 'DELETE' then ' ' || document.version else '' end;
  begin
    perform emit_webhook(document.organization_id, what, once, jsonb_build_object(
      'documentId', document.id, 'workspaceId', document.workspace_id));
    return null;
  end $$;
create or replace trigger emit_document_deleted after delete on document for each row
  when (old.status = 'ready' and old.replaces is null) execute function emit_document_changed();
create or replace trigger emit_document_ready after update of status, version on document for each row
  when ((old.status <> 'ready' or old.version <> new.version) and new.status = 'ready' and new.replaces is null)
  execute function emit_document_changed();

create or replace function emit_member_changed() returns trigger language plpgsql as $$
  declare
    member member := case tg_op when 'DELETE' then old else new end;
    what text := case tg_op when 'DELETE' then 'member.removed' else 'member.added' end;
  begin
    perform emit_webhook(member."organizationId", what, what || ' ' || member.id, jsonb_build_object(
      'memberId', member.id, 'userId', member."userId", 'role', member.role));
    return null;
  end $$;
create or replace trigger emit_member_added after insert on member for each row execute function emit_member_changed();
create or replace trigger emit_member_removed after delete on member for each row execute function emit_member_changed();

-- Nothing that happens to a delivery is audited, so none follows from another without end.
create or replace function emit_audit_entry() returns trigger language plpgsql as $$
  begin
    perform emit_webhook(new.organization_id, 'audit.entry', 'audit.entry ' || new.id, jsonb_build_object(
      'entryId', new.id, 'actorId', new.actor_id, 'actorEmail', new.actor_email, 'impersonatedBy', new.impersonated_by,
      'action', new.action, 'targetType', new.target_type, 'targetId', new.target_id,
      'metadata', case when octet_length(new.metadata::text) <= 8192 then new.metadata end));
    return null;
  end $$;
create or replace trigger emit_audit_entry after insert on audit_entry for each row
  when (new.organization_id is not null) execute function emit_audit_entry();

-- The same changes as the audit log has (subscriptions.sql).
create or replace function emit_subscription_changed() returns trigger language plpgsql as $$
  declare
    row subscription := case tg_op when 'DELETE' then old else new end;
  begin
    perform emit_webhook(row."referenceId", 'subscription.changed', null, jsonb_build_object(
      'subscriptionId', row.id, 'plan', row.plan, 'status', case tg_op when 'DELETE' then 'canceled' else row.status end));
    return null;
  end $$;
create or replace trigger emit_subscription_delete after delete on subscription for each row
  when (old.status <> 'incomplete') execute function emit_subscription_changed();
create or replace trigger emit_subscription_insert after insert on subscription for each row
  when (new.status <> 'incomplete') execute function emit_subscription_changed();
create or replace trigger emit_subscription_update after update on subscription for each row
  when ((old.plan, old.status, old."cancelAtPeriodEnd", old."cancelAt")
      is distinct from (new.plan, new.status, new."cancelAtPeriodEnd", new."cancelAt")
    and new.status <> 'incomplete')
  execute function emit_subscription_changed();
