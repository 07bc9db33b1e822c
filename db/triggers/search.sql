-- Instead of a foreign key, which would be checked for each posting and need another index: the postings of a document are found by its
-- list of terms.
create or replace function delete_postings() returns trigger language plpgsql as $$
  begin
    delete from posting using unnest(old.terms) as deleted (term)
      where posting.workspace_key = old.workspace_key and posting.term = deleted.term and posting.document_number = old.number;
    return null;
  end $$;
create or replace trigger lexical_document_postings after delete on lexical_document for each row execute function delete_postings();

-- Installs pgvector if possible, and creates its table with the vectors of all chunks. Returns its version, or the reason why there is
-- none.
create or replace function adopt_pgvector(out version text, out problem text) language plpgsql as $$
  begin
    if not exists (select from pg_extension where extname = 'vector') then
      if not exists (select from pg_available_extensions where name = 'vector') then
        problem := 'the database has no pgvector';
        return;
      end if;
      begin
        create extension vector;
      exception when others then
        problem := 'pgvector is there, but cannot be installed: ' || sqlerrm;
        return;
      end;
    end if;
    select extversion into version from pg_extension where extname = 'vector';
    if string_to_array(version, '.')::int[] < array[0, 8] then
      problem := 'pgvector ' || version || ' is too old: 0.8 is needed';
      version := null;
      return;
    end if;
    if to_regclass('chunk_vector') is not null then return; end if;
    perform set_config('lock_timeout', '2s', true);
    -- It excludes itself, so that of two calls the second one waits, and finds the table.
    lock table chunk in share row exclusive mode;
    if to_regclass('chunk_vector') is not null then return; end if;
    create table chunk_vector (
      document_id text not null,
      index integer not null,
      workspace_id text not null,
      model text not null,
      dimensions integer not null,
      vector halfvec not null,
      primary key (document_id, index),
      foreign key (document_id, index) references chunk (document_id, index) on delete cascade
    );
    alter table chunk_vector set (toast_tuple_target = 8160);
    create index chunk_vector_workspace on chunk_vector (workspace_id, model, dimensions);
    insert into chunk_vector
      select document_id, index, workspace_id, model, cardinality(embedding), embedding::halfvec from chunk
      where cardinality(embedding) between 1 and 16000;
  end $$;

-- A new database gets its table at once. With chunks that takes long and keeps others from storing any: the hourly workflow does it.
select adopt_pgvector() where not exists (select from chunk);
