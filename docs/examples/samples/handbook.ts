/** A part of the handbook, as make-handbook.ts sets it. */
export type Part =
  | { kind: 'chapter'; text: string }
  | { kind: 'section'; text: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'list'; items: string[] }
  | { kind: 'table'; rows: string[][] };

export const title = 'Korvid Ridge Observatory';
export const subtitle = 'Field Handbook for Visiting Observers, Seventh Edition';

/** The text of the handbook of an observatory that does not exist. */
export const parts: Part[] = [
  { kind: 'chapter', text: '1. Welcome to the ridge' },
  {
    kind: 'paragraph',
    text: `Korvid Ridge Observatory stands at 2,431 metres on the eastern shoulder of Mount Sable. It was founded in 1968 by Dr. Ines Halloran, who chose the site after she had slept in a tent on eleven different summits to compare their night air. The observatory belongs to a cooperative of nine small universities, and no member may claim more than a fifth of the observing time.`,
  },
  {
    kind: 'paragraph',
    text: `This handbook is for visiting observers. It tells you how to reach the ridge, how to work the telescopes without a technician at your side, and what to do when the weather turns. Read chapter 4 before your first night: the mountain has injured more visitors than the instruments ever have.`,
  },
  { kind: 'section', text: '1.1 Getting there' },
  {
    kind: 'paragraph',
    text: `The supply truck leaves the railway halt at Tarn Bridge every Tuesday and Friday at 13:30. The drive takes fifty minutes in summer and up to two hours in winter, when snow chains are compulsory above the quarry gate. Private cars are not permitted beyond that gate after sunset, because headlights spoil the exposures of everyone above.`,
  },
  { kind: 'section', text: '1.2 Rooms and meals' },
  {
    kind: 'paragraph',
    text: `Observers sleep in the stone lodge below the dome. Dinner is at 17:00 so that everybody can be at the instruments by dusk, and a cold night lunch waits in the blue refrigerator from midnight. Quiet hours run from sunrise until 14:00. The lodge has no mobile reception; the only telephone hangs beside the boot room.`,
  },
  { kind: 'chapter', text: '2. Telescopes and instruments' },
  {
    kind: 'paragraph',
    text: `Three telescopes are open to visitors. The largest, called the Lantern, is a 1.6-metre reflector on a fork mount. The Twin is a pair of 0.4-metre refractors that photograph the same field through two filters at once. The Heron is a small radio dish, 4.5 metres across, kept for teaching.`,
  },
  {
    kind: 'table',
    rows: [
      ['Telescope', 'Aperture', 'Instrument', 'Cooled to', 'Reservation'],
      ['Lantern', '1.6 m', 'Echelle spectrograph', '-110 C', 'six weeks ahead'],
      ['Twin', '2 x 0.4 m', 'Two-colour camera', '-35 C', 'ten days ahead'],
      ['Heron', '4.5 m', 'Hydrogen line receiver', 'not cooled', 'same evening'],
    ],
  },
  { kind: 'section', text: '2.1 The spectrograph of the Lantern' },
  {
    kind: 'paragraph',
    text: `The echelle spectrograph stands in a sealed room under the pier and must stay within a tenth of a degree. Never open the inner door during an exposure. Wavelengths are calibrated with a thorium-argon lamp: take one lamp frame before the first target, one at midnight and one after the last target. A lamp that flickers has to be replaced by the day crew, since a warm lamp drifts for about forty minutes.`,
  },
  {
    kind: 'paragraph',
    text: `Mirrors are washed with deionised water in April and given a new aluminium coating every third September. Visitors do not clean optics. If you see dew or dust on a mirror, close the petals, write it in the log and call the day crew.`,
  },
  { kind: 'section', text: '2.2 The hydrogen receiver of the Heron' },
  {
    kind: 'paragraph',
    text: `The Heron listens at 1,420 megahertz. Microwave ovens, wireless headphones and the drill in the workshop all appear in its spectrum, so the kitchen oven is locked from 20:00. Students map the rotation of the galaxy with it in two evenings, and the results have been printed in the observatory yearbook since 1994.`,
  },
  { kind: 'chapter', text: '3. A night at the controls' },
  {
    kind: 'paragraph',
    text: `Begin one hour before sunset. Open the ventilation louvres first, so that the dome air can settle to the temperature outside; a difference of more than two degrees blurs every star. Then wake the mount, let it find its index marks and point it at the parking star of the month, which is written on the slate.`,
  },
  {
    kind: 'list',
    items: [
      'Take twelve flat fields against the twilight sky, opposite the sun.',
      'Focus on a star of about eighth magnitude and repeat whenever the tube cools by three degrees.',
      'Start the guider and wait until its error stays below 0.3 arc seconds for a minute.',
      'Write the seeing, the cloud cover and the name of the observer into the log at every full hour.',
    ],
  },
  { kind: 'section', text: '3.1 Data and backups' },
  {
    kind: 'paragraph',
    text: `Frames are written to the disks in the warm room and copied to the archive in Tarn Bridge at 09:00 each morning over a microwave link. Raw data stay private to the observer for eighteen months and are public afterwards. Take your own copy on a drive you brought with you; the ridge does not lend any. The archive keeps three copies of each frame, one of them in another country.`,
  },
  { kind: 'section', text: '3.2 When the mount stops' },
  {
    kind: 'paragraph',
    text: `A red lamp above the console means that the mount has lost an encoder. Press the amber button once, count to ten and home both axes again. If the lamp returns within five minutes, clamp the declination axis by hand, note the position angle and end the session; a second restart has stripped gears before. A yellow lamp only asks for a new cable wrap and may wait until morning.`,
  },
  { kind: 'chapter', text: '4. Weather and safety' },
  {
    kind: 'paragraph',
    text: `The dome closes when the mean wind passes 55 kilometres per hour, when the relative humidity passes 88 percent, or when the lightning detector hears a strike within 20 kilometres. The decision belongs to the night assistant alone and is not open to debate. Reopening needs thirty calm minutes.`,
  },
  {
    kind: 'paragraph',
    text: `Altitude sickness usually begins with a headache and clumsy hands. Drink water, do not climb to the dome, and tell someone. An oxygen cylinder hangs behind the door of the boot room, and every night assistant has been trained to use it. Whoever feels confused is taken down to Tarn Bridge at once, whatever the hour.`,
  },
  { kind: 'section', text: '4.1 Fire and power' },
  {
    kind: 'paragraph',
    text: `The diesel generator starts by itself eleven seconds after mains power fails and carries the ridge for thirty hours. In a fire, leave by the north stair, which is built of stone, and gather at the cairn with the iron cross. Do not use water on the battery room: it has its own gas extinguisher, and the door locks itself thirty seconds after the horn.`,
  },
  { kind: 'section', text: '4.2 Animals' },
  {
    kind: 'paragraph',
    text: `Ravens nest on the catwalk between March and June and steal anything shiny. Count your hexagonal keys before and after work. Bears are rare, but food is never left in the truck; the last visitor who did so walked home. The marmots under the lodge are counted each August and must not be fed.`,
  },
  { kind: 'chapter', text: '5. Costs, credit and contacts' },
  {
    kind: 'paragraph',
    text: `A night on the Lantern costs a member university 640 crowns, a night on the Twin 210, and the Heron is free. Nights lost to weather are not charged, but nights cancelled by the observer less than five days ahead are charged in full. Papers that use ridge data thank the cooperative and send two printed copies to the library.`,
  },
  {
    kind: 'paragraph',
    text: `The director is Prof. Anselm Okoye, the chief engineer is Marit Lindqvist, and the lodge is run by the Pereira family. Emergencies go to extension 7, lost property to extension 22, and questions about proposals to the time committee, which meets on the first Monday of March and October.`,
  },
];
