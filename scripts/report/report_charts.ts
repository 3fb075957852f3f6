/**
 * Draws the charts of the report as SVG, without a browser. The charts take their colours from CSS variables
 * of the page, so that they follow its light or dark form.
 */

import { count } from "../cli/progress_reporter.ts";
import { shortened } from "../cli/shortened.ts";

/** Only the report downloads and loads the library: its lock file is `scripts/report/report.lock`. */
const LIBRARY = "npm:echarts@6.1.0/dist/echarts.esm.min.mjs";

/** The used part of the library. */
interface ECharts {
  init(
    element: null,
    theme: null,
    options: { renderer: "svg"; ssr: true; width: number; height: number },
  ): { setOption(option: object): void; renderToSVGString(): string; dispose(): void };
}

/** Named values, in the order in which they are shown. */
export interface Series {
  labels: string[];
  values: number[];
}

export interface ChartSize {
  width: number;
  height: number;
}

/** Draws one chart. */
export type Draw = (series: Series, size: ChartSize) => string;

export interface Charts {
  /** Upright bars, for values over time. */
  columns: Draw;
  /** A line with the area below it. */
  area: Draw;
  /** Lying bars with their values, the first one at the top. */
  bars: Draw;
}

/** Height of a lying bar with the space around it, in pixels. */
export const BAR_HEIGHT = 34;

const FONT = { fontFamily: "system-ui, sans-serif", fontSize: 12 };
const TEXT = { color: "var(--muted)", ...FONT };
const LINE = { lineStyle: { color: "var(--line)" } };
/** Largest share of the width for the names of lying bars. */
const NAMES_SHARE = 0.4;
/** Estimated width of a character in pixels. The library cannot measure text without a browser. */
const CHARACTER_WIDTH = 7.5;

/** Loads the library. Rejects if it is not there and cannot be downloaded. */
export async function loadCharts(): Promise<Charts> {
  // Not a literal, because Deno would otherwise look for the package in the lock file of every program.
  const library: ECharts = await import(LIBRARY).catch((cause) => {
    throw new Error("Cannot load the chart library; the first report needs the npm registry", {
      cause,
    });
  });
  const draw = ({ width, height }: ChartSize, option: object) => {
    const chart = library.init(null, null, { renderer: "svg", ssr: true, width, height });
    chart.setOption({ animation: false, textStyle: FONT, ...option });
    const svg = chart.renderToSVGString();
    chart.dispose();
    // The sizes and the behaviour under a pointer come from the page.
    return svg.replace(/^<svg width="\d+" height="\d+"/, "<svg")
      .replace(/<style[^]*?<\/style>/g, "");
  };
  const overTime = ({ labels, values }: Series, series: object) => ({
    grid: { left: textWidth([count(Math.max(...values))]), right: 36, top: 12, bottom: 28 },
    xAxis: {
      type: "category",
      data: labels,
      axisLine: LINE,
      axisTick: { show: false },
      axisLabel: { ...TEXT, hideOverlap: true },
    },
    yAxis: { ...valueAxis(), axisLabel: { ...TEXT, formatter: count } },
    series: [{ silent: true, ...series }],
  });
  return {
    columns: (series, size) =>
      draw(
        size,
        overTime(series, {
          type: "bar",
          data: series.values,
          barCategoryGap: series.values.length > 60 ? "10%" : "30%",
          barMaxWidth: 48,
          itemStyle: { color: "var(--series)" },
        }),
      ),
    area: (series, size) =>
      draw(
        size,
        overTime(series, {
          type: "line",
          data: series.values,
          symbol: series.values.length === 1 ? "circle" : "none",
          symbolSize: 8,
          itemStyle: { color: "var(--series)" },
          lineStyle: { color: "var(--series)", width: 2 },
          areaStyle: { color: "var(--area)" },
        }),
      ),
    bars: ({ labels, values }, size) => {
      const namesWidth = Math.min(textWidth(labels), size.width * NAMES_SHARE);
      return draw(size, {
        grid: { left: namesWidth, right: 72, top: 4, bottom: 4 },
        xAxis: { ...valueAxis(), axisLabel: { show: false }, splitLine: { show: false } },
        yAxis: {
          type: "category",
          data: labels.map((label) => shortened(label, namesWidth / CHARACTER_WIDTH - 2)),
          inverse: true,
          axisLine: LINE,
          axisTick: { show: false },
          axisLabel: { ...TEXT, color: "var(--text)" },
        },
        series: [{
          type: "bar",
          silent: true,
          data: values,
          barWidth: "60%",
          itemStyle: { color: "var(--series)" },
          label: {
            show: true,
            position: "right",
            color: "var(--text)",
            textBorderWidth: 0,
            formatter: ({ value }: { value: number }) => count(value),
          },
        }],
      });
    },
  };
}

/** Width in pixels that has room for the longest of these texts. */
function textWidth(texts: string[]): number {
  return (Math.max(...texts.map((text) => text.length)) + 2) * CHARACTER_WIDTH;
}

function valueAxis(): object {
  return {
    type: "value",
    min: 0,
    minInterval: 1,
    splitNumber: 4,
    splitLine: { lineStyle: { color: "var(--grid)" } },
  };
}
