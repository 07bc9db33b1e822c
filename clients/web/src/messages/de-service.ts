import type { ErrorData } from '@sheaf/client';
import type { Said } from '../said.ts';

/** What the service says with its errors, failures of jobs and notices, in German; undefined where no sentence is known. */
export function ofService({ code, message, data, retryAfterMs }: Said): string | undefined {
  const sentence = byWords[message] ?? lackOfPermission(message) ?? byCode[(code ?? '').replace(/^YOU_ARE_NOT_ALLOWED_TO_.*/, 'FORBIDDEN')];
  return typeof sentence === 'function' ? sentence(data, retryAfterMs) : sentence;
}

/** What stands above the service's own words where it has many for one code, and none of them is known here. */
export const inGeneral: Record<string, string> = {
  BAD_REQUEST: 'Der Dienst nimmt eine Angabe so nicht an:',
  CONFLICT: 'Das passt nicht zu dem, was schon da ist:',
  PRECONDITION_FAILED: 'Das geht hier nicht oder noch nicht:',
};

/** Names the permission that is lacking, as the service does. */
function lackOfPermission(message: string): string | undefined {
  const [, permission] = /^This needs the permission ([\w-]+:[\w-]+),/.exec(message) ?? [];
  return permission && `Dafür fehlt die Berechtigung ${permission}.`;
}

/** Where one code stands for several things. */
const byWords: Record<string, string> = {
  'Too many wrong passwords for this account: try again later, or reset the password.':
    'Zu viele falsche Passwörter für dieses Konto: Versuchen Sie es später erneut oder setzen Sie das Passwort zurück.',
  'Too many wrong codes: the second factor is locked for 15 minutes.':
    'Zu viele falsche Codes: Der zweite Faktor ist für 15 Minuten gesperrt.',
  'Only the user may do this, not who impersonates them.': 'Das darf nur die Person selbst, nicht wer in ihrem Namen handelt.',
  'Platform admins need a second factor here: turn it on first.':
    'Plattform-Admins brauchen hier einen zweiten Faktor: Schalten Sie ihn zuerst ein.',
  'The job is no longer queued.': 'Der Job wartet nicht mehr.',
  'Only a failed job can be retried.': 'Nur ein fehlgeschlagener Job kann erneut versucht werden.',
  'The upload of this document is not complete.': 'Der Upload dieses Dokuments ist nicht abgeschlossen.',
  'The subscription of this organization is still live: cancel it first.':
    'Das Abonnement dieser Organisation läuft noch: Kündigen Sie es zuerst.',
  'Fields are extracted by a remote model, and this deployment has none.':
    'Felder liest ein entferntes Modell aus, und hier ist keines eingerichtet.',
  'A workspace of this organization has this slug already.': 'Ein Arbeitsbereich dieser Organisation hat diese Kurzform schon.',
  'The document needs more memory than it may use.': 'Das Dokument braucht mehr Speicher, als es verwenden darf.',
};

type Sentence<D> = string | ((data: D, retryAfterMs: number | undefined) => string | undefined);

const number = (given: number) => given.toLocaleString('de');

const kinds = { workspaces: 'Arbeitsbereiche', members: 'Mitglieder', aiCredits: 'Credits im Monat' } as const;

function limitReached(data: ErrorData['LIMIT_REACHED'] | undefined): string {
  if (data?.kind === 'storageBytes') return `Der Speicher dieses Arbeitsbereichs ist voll: ${number(data.limit / 1e6)} MB.`;
  if (data?.scope === 'key') return 'Das Budget dieses API-Schlüssels für diesen Monat ist aufgebraucht.';
  if (data?.scope === 'workspace') return 'Das Budget dieses Arbeitsbereichs für diesen Monat ist aufgebraucht.';
  const allowed = data && data.kind !== 'costMicros' ? `: ${number(data.limit)} ${kinds[data.kind]}` : '';
  return `Eine Grenze des Tarifs ist erreicht${allowed}.`;
}

const tooManyRequests = (_: unknown, retryAfterMs: number | undefined) =>
  `Zu viele Anfragen: Versuchen Sie es ${retryAfterMs ? `in ${number(Math.ceil(retryAfterMs / 1000))} s` : 'später'} erneut.`;

const [failed, away, gone, noAi, interrupted] = [
  'Im Dienst ist ein Fehler aufgetreten.',
  'Der Dienst ist vorübergehend nicht verfügbar.',
  'Das gibt es nicht oder nicht mehr.',
  'Der KI-Dienst ist fehlgeschlagen. Versuchen Sie es später erneut.',
  'Der Versuch wurde unterbrochen. Versuchen Sie es erneut.',
];
const needsOwner =
  'Eine Organisation braucht einen Inhaber: Machen Sie zuerst ein anderes Mitglied dazu oder löschen Sie die Organisation.';
const verifyFirst = 'Bestätigen Sie zuerst Ihre E-Mail-Adresse.';
const signInAgain = 'Melden Sie sich dafür erneut an.';
const tooLong = 'Das Dokument ist länger, als verarbeitet wird: Teilen Sie es.';

/** By the codes of docs/reference.md, docs/identity.md and docs/extraction.md. Those that are too coarse for a sentence are left out. */
// biome-ignore lint/suspicious/noExplicitAny: each code has data of its own.
const byCode: Record<string, Sentence<any>> = {
  // Of requests.
  UNAUTHORIZED: 'Sie müssen angemeldet sein.',
  FORBIDDEN: 'Sie dürfen das nicht.',
  LIMIT_REACHED: limitReached,
  ORGANIZATION_SUSPENDED: (data?: ErrorData['ORGANIZATION_SUSPENDED']) => `Die Organisation ist gesperrt${data ? `: ${data.reason}` : '.'}`,
  LEGAL_HOLD: (data?: ErrorData['LEGAL_HOLD']) =>
    `Eine Aufbewahrungspflicht schützt das vor Löschen und Ändern${data ? `: ${data.reason}` : '.'}`,
  NOT_FOUND: gone,
  BAD_REQUEST: (data?: ErrorData['BAD_REQUEST']) =>
    data?.issues[0]?.path[0] === 'contentType' ? 'Dateien dieser Art werden hier nicht angenommen.' : undefined,
  CONFLICT: (data?: ErrorData['CONFLICT']) => data && 'Der Arbeitsbereich hat schon ein Dokument mit diesem Inhalt.',
  PAYLOAD_TOO_LARGE: (data?: ErrorData['PAYLOAD_TOO_LARGE']) =>
    `Die Datei ist zu groß${data ? `: Höchstens ${number(data.maxBytes / 1e6)} MB sind erlaubt` : ''}.`,
  TOO_MANY_REQUESTS: tooManyRequests,
  SERVICE_UNAVAILABLE: (data?: ErrorData['SERVICE_UNAVAILABLE']) => (data ? `Zurzeit kann nichts geändert werden: ${data.readOnly}` : away),
  NETWORK: 'Der Dienst war nicht erreichbar, oder seine Antwort ging verloren.',
  TIMEOUT: 'Der Dienst hat nicht rechtzeitig geantwortet.',
  too_slow: 'Die Datei wurde zu langsam gesendet.',
  storage_full: 'Der Speicher ist voll.',
  internal_error: failed,
  INTERNAL_SERVER_ERROR: failed,
  HTTP_500: failed,
  BAD_GATEWAY: away,
  HTTP_502: away,
  GATEWAY_TIMEOUT: away,
  HTTP_504: away,
  // Of accounts.
  INVALID_EMAIL_OR_PASSWORD: 'E-Mail-Adresse oder Passwort ist falsch.',
  INVALID_EMAIL: 'Die E-Mail-Adresse ist ungültig.',
  INVALID_PASSWORD: 'Das Passwort ist falsch.',
  USER_ALREADY_EXISTS: 'Für diese Adresse gibt es schon ein Konto.',
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: 'Für diese Adresse gibt es schon ein Konto. Melden Sie sich an oder verwenden Sie eine andere.',
  PASSWORD_TOO_COMMON: 'Das Passwort ist zu gängig: Wählen Sie ein anderes.',
  PASSWORD_TOO_SHORT: 'Das Passwort ist zu kurz: Es braucht mindestens 8 Zeichen.',
  PASSWORD_TOO_LONG: 'Das Passwort ist zu lang.',
  PASSWORD_CHANGE_REQUIRED: 'Legen Sie ein neues Passwort fest.',
  NAME_TOO_LONG: 'Der Name ist zu lang.',
  EMAIL_NOT_VERIFIED: 'Die E-Mail-Adresse ist noch nicht bestätigt.',
  BANNED_USER: 'Dieses Konto ist gesperrt.',
  INVALID_TOKEN: 'Der Link gilt nicht oder nicht mehr.',
  TOKEN_EXPIRED: 'Der Link ist abgelaufen.',
  SESSION_NOT_FRESH: signInAgain,
  SESSION_EXPIRED: signInAgain,
  EMAIL_ALREADY_VERIFIED: 'Die E-Mail-Adresse ist schon bestätigt.',
  INVALID_CODE: 'Der Code ist falsch.',
  INVALID_BACKUP_CODE: 'Der Backup-Code ist falsch oder schon verwendet.',
  CODE_REQUIRED: 'Geben Sie auch einen Code des zweiten Faktors ein.',
  TWO_FACTOR_NOT_ENABLED: 'Die Zwei-Faktor-Authentifizierung ist nicht mehr eingeschaltet.',
  TOTP_ALREADY_ENABLED: 'Die Zwei-Faktor-Authentifizierung ist schon eingeschaltet.',
  ACCOUNT_TEMPORARILY_LOCKED: 'Zu viele falsche Codes: Das Konto ist vorübergehend gesperrt.',
  FAILED_TO_UNLINK_LAST_ACCOUNT: 'Das ist Ihr letzter Weg zur Anmeldung: Er kann nicht getrennt werden.',
  YOU_ARE_IMPERSONATING: 'Das darf nur die Person selbst, nicht wer in ihrem Namen handelt.',
  PROVIDER_UNAVAILABLE: 'Der Anbieter der Anmeldung antwortet nicht.',
  // Of organizations.
  LAST_OWNER: needsOwner,
  YOU_CANNOT_LEAVE_THE_ORGANIZATION_AS_THE_ONLY_OWNER: 'Als einziger Inhaber können Sie die Organisation nicht verlassen.',
  YOU_HAVE_REACHED_THE_MAXIMUM_NUMBER_OF_ORGANIZATIONS: 'Sie haben schon so viele Organisationen im kostenlosen Tarif, wie erlaubt sind.',
  USER_IS_ALREADY_A_MEMBER_OF_THIS_ORGANIZATION: 'Diese Person ist schon Mitglied.',
  USER_IS_ALREADY_INVITED_TO_THIS_ORGANIZATION: 'Diese Person ist schon eingeladen.',
  INVITATION_NOT_FOUND: 'Diese Einladung gibt es nicht oder nicht mehr.',
  INVITATION_NOT_PENDING: 'Die Einladung ist nicht mehr offen.',
  INVITER_IS_NO_LONGER_A_MEMBER_OF_THE_ORGANIZATION: 'Wer Sie eingeladen hat, darf das nicht mehr: Bitten Sie um eine neue Einladung.',
  YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION: 'Die Einladung ging an eine andere Adresse.',
  EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION: verifyFirst,
  EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION: verifyFirst,
  ORGANIZATION_BEING_DELETED: 'Diese Organisation wird gerade gelöscht.',
  OWNED_ORGANIZATION_BEING_DELETED: 'Eine Organisation, die Sie als Inhaber braucht, wird gerade gelöscht: Versuchen Sie es danach erneut.',
  ORGANIZATION_NOT_FOUND: gone,
  MEMBER_NOT_FOUND: 'Diese Person ist nicht oder nicht mehr Mitglied.',
  TEAM_NOT_FOUND: 'Dieses Team gibt es nicht oder nicht mehr.',
  YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION: 'Sie sind nicht oder nicht mehr Mitglied dieser Organisation.',
  YOU_CANNOT_LEAVE_THE_ORGANIZATION_WITHOUT_AN_OWNER: needsOwner,
  YOU_HAVE_REACHED_THE_MAXIMUM_NUMBER_OF_TEAMS: 'Die Organisation hat schon so viele Teams, wie erlaubt sind.',
  // Of jobs, and of documents that they failed at.
  unsupported_type: 'Dokumente dieser Art werden hier nicht gelesen.',
  unsupported_image: 'Bilder dieser Art werden hier nicht gelesen.',
  unsupported_encoding: 'Die Datei ist so kodiert, dass sie nicht gelesen wird.',
  unreadable_document: 'Das Dokument kann nicht gelesen werden: Es ist beschädigt oder von anderer Art, als sein Name sagt.',
  unreadable_image: 'Das Bild kann nicht gelesen werden: Es ist beschädigt, zu groß oder kein Bild.',
  unusable_text: 'Der Text konnte nicht verarbeitet werden.',
  expands_too_far: 'Das Dokument enthält mehr, als entpackt werden darf.',
  encrypted_document: 'Das Dokument ist mit einem Passwort geschützt: Laden Sie es ohne Passwort hoch.',
  empty_document: 'Das Dokument ist leer.',
  no_text: 'Das Dokument hat keinen Text.',
  too_many_pages: 'Das Dokument hat mehr Seiten, als gelesen werden: Teilen Sie es.',
  text_too_long: tooLong,
  too_many_chunks: tooLong,
  text_too_long_for_model: 'Ein Abschnitt ist länger, als das Modell annimmt.',
  ocr_unavailable: 'Text in Bildern wird hier nicht erkannt.',
  document_missing: 'Das Dokument wurde gelöscht.',
  workspace_missing: 'Der Arbeitsbereich wurde gelöscht.',
  text_replaced: interrupted,
  model_changed: interrupted,
  workspace_locked: interrupted,
  worker_lost: interrupted,
  worker_stopped: interrupted,
  ai_unreachable: noAi,
  ai_failed: noAi,
  ai_unavailable: noAi,
  provider_unavailable: 'Was der Job braucht, war zu lange nicht erreichbar. Versuchen Sie es später erneut.',
  legal_hold: 'Eine Aufbewahrungspflicht hält den Inhalt fest, den das ersetzen würde.',
  ai_unusable_answer: noAi,
  store_unavailable: 'Der Speicher der Dokumente war nicht erreichbar. Versuchen Sie es später erneut.',
  timeout: 'Der Versuch hat zu lange gedauert.',
  canceled_by_operator: 'Der Betreiber hat den Job beendet.',
  // Notices of documents.
  scan_not_read: 'Text in Bildern wurde nicht gelesen, weil die Texterkennung ausgeschaltet ist.',
  scan_over_limit: 'Text in einigen Bildern wurde nicht gelesen, weil das Dokument zu viele davon hat.',
  scan_failed: 'Einige Bilder konnten nicht gelesen werden.',
  unsure_text: 'Einiger Text wurde nicht sicher gelesen: Er ist klein, unscharf oder in einer anderen Sprache.',
  unsure_text_left_out: 'Was vielleicht Text ist, wurde ausgelassen: Es war zu unsicher oder zu viel.',
  layers_left_out: 'Text in ausgeschalteten Ebenen wurde ausgelassen.',
  unseen_text_left_out: 'Text, den man nicht sieht, wurde ausgelassen, etwa Weiß auf Weiß.',
  notes_left_out: 'Kommentare wurden ausgelassen.',
  unmapped_text_left_out: 'Text wurde ausgelassen, dessen Schriften nicht sagen, welche Buchstaben sie zeigen.',
  text_cut: 'Der Text ist gekürzt: Das Dokument hat mehr davon, als aufbewahrt wird. Was fehlt, finden Suchen und Fragen nicht.',
  charset_guessed: 'Die Zeichenkodierung des Textes wurde vermutet.',
  signs_not_decoded: 'Einige Zeichen konnten nicht gelesen werden.',
  part_not_read: 'Ein Teil des Dokuments wurde nicht gelesen.',
  embedded_files_not_read: 'Eingebettete Dateien wurden nicht gelesen.',
  xfa_form_not_read: 'Das PDF ist ein XFA-Formular, das nicht vollständig gelesen wird.',
};
