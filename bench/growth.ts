/** How a cost grows with the size of the work: one line a size. */
export interface GrowthTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}
