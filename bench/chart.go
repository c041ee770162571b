package main

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// chart is a diagram of lines over a logarithmic axis, drawn as SVG. The same
// chart is always the same text. It brings its own ground and colours for light
// and dark, and tells the lines apart by marks too, not by colour alone.
type chart struct {
	title, subtitle string
	xLabel, yLabel  string
	lines           []line
	limit           *limit // what is to be kept, if anything
}

type line struct {
	name   string
	points []point
}

// point is a median with the least and the most of the rounds.
type point struct{ x, y, low, high float64 }

// limit is drawn across.
type limit struct {
	y    float64
	name string
}

// The sizes of a drawing, in its own units.
const (
	chartWidth, chartHeight = 820, 420
	plotLeft, plotRight     = 76, 560
	plotTop, plotBottom     = 70, 350
	// Lines are set apart by so much, or marks of the same value would hide
	// each other.
	beside = 5
)

// colours of the lines, for light and dark ground.
var colours = [...][2]string{
	{"#0072b2", "#56b4e9"},
	{"#c44e00", "#ff8c3f"},
	{"#00795a", "#2fc99b"},
	{"#a8467f", "#e08dbd"},
	{"#8a6d00", "#f0c23b"},
	{"#5b4bb5", "#a99cf5"},
	{"#444444", "#d0d0d0"},
}

// marks are drawn around 0, one for each line.
var marks = [...]string{
	"M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
	"M-3.5,-3.5h7v7h-7z",
	"M0,-4.5l4.5,8h-9z",
	"M0,-5l5,5l-5,5l-5,-5z",
	"M0,4.5l4.5,-8h-9z",
	"M-4,-1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7z",
	"M-4.5,-2h9v4h-9z",
}

// svg draws the chart.
func (c *chart) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		chartWidth, chartHeight, chartWidth, chartHeight, escape(c.title))
	b.WriteString(style())
	fmt.Fprintf(&b, `<rect class="ground" width="%d" height="%d"/>`+"\n", chartWidth, chartHeight)
	text(&b, plotLeft, 28, "title", "start", c.title)
	text(&b, plotLeft, 48, "small", "start", c.subtitle)
	x, y, step := c.scales()
	c.axes(&b, x, y, step)
	if c.limit != nil {
		at := y.at(c.limit.y)
		fmt.Fprintf(&b, `<path class="limit" d="M%d,%sH%d"/>`+"\n", plotLeft, number(at), plotRight)
	}
	for i := range c.lines {
		c.line(&b, i, x, y)
	}
	c.legend(&b)
	b.WriteString("</svg>\n")
	return b.String()
}

func style() string {
	var b strings.Builder
	b.WriteString("<style>\n")
	b.WriteString("text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-size:15px;font-weight:600}.small{font-size:11px;fill:#59636e}\n")
	b.WriteString(".ground{fill:#fff}.grid{stroke:#d8dee4;fill:none}.axis{stroke:#59636e;fill:none}.limit{stroke:#b00020;stroke-dasharray:6 4;fill:none}\n")
	b.WriteString(".line{fill:none;stroke-width:1.8}.range{fill:none;stroke-width:1.2}\n")
	for i, c := range colours {
		fmt.Fprintf(&b, ".l%d{stroke:%s}.m%d{fill:%s}\n", i, c[0], i, c[0])
	}
	b.WriteString("@media (prefers-color-scheme:dark){\n")
	b.WriteString("text{fill:#e6edf3}.small{fill:#9da7b3}.ground{fill:#0d1117}.grid{stroke:#30363d}.axis{stroke:#9da7b3}.limit{stroke:#ff7b8a}\n")
	for i, c := range colours {
		fmt.Fprintf(&b, ".l%d{stroke:%s}.m%d{fill:%s}\n", i, c[1], i, c[1])
	}
	b.WriteString("}\n</style>\n")
	return b.String()
}

// scale maps values to places.
type scale struct {
	least, most float64 // values
	from, to    float64 // places
	logarithmic bool
}

func (s scale) at(v float64) float64 {
	part := (v - s.least) / (s.most - s.least)
	if s.logarithmic {
		part = math.Log(v/s.least) / math.Log(s.most/s.least)
	}
	return s.from + part*(s.to-s.from)
}

// scales leave room at both ends; y begins at 0, so that heights compare as
// values do, and has a mark at every step.
func (c *chart) scales() (x, y scale, step float64) {
	least, most, top := math.Inf(1), 0.0, 0.0
	for _, l := range c.lines {
		for _, p := range l.points {
			least, most, top = min(least, p.x), max(most, p.x), max(top, p.high)
		}
	}
	if math.IsInf(least, 1) {
		least, most = 1, 10
	}
	if c.limit != nil {
		top = max(top, c.limit.y)
	}
	x = scale{least: least / 1.6, most: max(most, least*10) * 1.6, from: plotLeft, to: plotRight, logarithmic: true}
	step = stepFor(top)
	y = scale{least: 0, most: step * max(1, math.Ceil(top*1.02/step)), from: plotBottom, to: plotTop}
	return x, y, step
}

// stepFor is the distance of marks on an axis from 0 to about top: 1, 2 or 5
// times a power of ten.
func stepFor(top float64) float64 {
	if top <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(top/5)))
	for _, times := range []float64{1, 2, 5} {
		if top/(unit*times) <= 6 {
			return unit * times
		}
	}
	return unit * 10
}

func (c *chart) axes(b *strings.Builder, x, y scale, step float64) {
	for v := 0.0; v <= y.most*1.0001; v += step {
		at := y.at(v)
		fmt.Fprintf(b, `<path class="grid" d="M%d,%sH%d"/>`+"\n", plotLeft, number(at), plotRight)
		text(b, plotLeft-8, at+4, "", "end", short(v))
	}
	for v := math.Pow(10, math.Ceil(math.Log10(x.least))); v <= x.most; v *= 10 {
		at := x.at(v)
		fmt.Fprintf(b, `<path class="grid" d="M%s,%dV%d"/>`+"\n", number(at), plotTop, plotBottom)
		text(b, at, plotBottom+18, "", "middle", count(v))
	}
	fmt.Fprintf(b, `<path class="axis" d="M%d,%dV%dH%d"/>`+"\n", plotLeft, plotTop, plotBottom, plotRight)
	text(b, (plotLeft+plotRight)/2, plotBottom+44, "", "middle", c.xLabel)
	middle := (plotTop + plotBottom) / 2
	fmt.Fprintf(b, `<text x="22" y="%d" text-anchor="middle" transform="rotate(-90 22 %d)">%s</text>`+"\n", middle, middle, escape(c.yLabel))
}

// line draws the i-th line: its path, and for each point the range of the
// rounds and a mark.
func (c *chart) line(b *strings.Builder, i int, x, y scale) {
	kind := i % len(colours)
	shift := (float64(i) - float64(len(c.lines)-1)/2) * beside
	place := func(p point) (float64, float64) { return x.at(p.x) + shift, y.at(p.y) }
	var path []string
	for _, p := range c.lines[i].points {
		px, py := place(p)
		path = append(path, number(px)+","+number(py))
	}
	if len(path) > 1 {
		fmt.Fprintf(b, `<path class="line l%d" d="M%s"/>`+"\n", kind, strings.Join(path, "L"))
	}
	for _, p := range c.lines[i].points {
		px, py := place(p)
		if p.high > p.low {
			fmt.Fprintf(b, `<path class="range l%d" d="M%s,%sV%s"/>`+"\n", kind, number(px), number(y.at(p.low)), number(y.at(p.high)))
		}
		fmt.Fprintf(b, `<path class="mark m%d" transform="translate(%s %s)" d="%s"><title>%s</title></path>`+"\n",
			kind, number(px), number(py), marks[kind], escape(fmt.Sprintf("%s at %s: %s (%s to %s)", c.lines[i].name, count(p.x), short(p.y), short(p.low), short(p.high))))
	}
}

func (c *chart) legend(b *strings.Builder) {
	at := float64(plotTop + 14)
	for i, l := range c.lines {
		kind := i % len(colours)
		fmt.Fprintf(b, `<path class="line l%d" d="M%d,%sh24"/>`+"\n", kind, plotRight+16, number(at))
		fmt.Fprintf(b, `<path class="m%d" transform="translate(%d %s)" d="%s"/>`+"\n", kind, plotRight+28, number(at), marks[kind])
		text(b, plotRight+48, at+4, "", "start", l.name)
		at += 22
	}
	if c.limit != nil {
		fmt.Fprintf(b, `<path class="limit" d="M%d,%sh24"/>`+"\n", plotRight+16, number(at))
		text(b, plotRight+48, at+4, "", "start", c.limit.name)
	}
}

func text(b *strings.Builder, x, y float64, class, anchor, content string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(b, `<text%s x="%s" y="%s" text-anchor="%s">%s</text>`+"\n", class, number(x), number(y), anchor, escape(content))
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // writing to memory does not fail
	return b.String()
}

// number is a place, to a tenth.
func number(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// short is a value with three digits at the most.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(math.Round(v/1e4)/100, 'f', -1, 64) + " M"
	case v >= 100:
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	case v >= 10:
		return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	}
	return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
}

// count writes how many there are: 100, 10 thousand, 1 million.
func count(v float64) string {
	switch {
	case v >= 1e6:
		return short(v/1e6) + " million"
	case v >= 1e3:
		return short(v/1e3) + " thousand"
	}
	return short(v)
}
