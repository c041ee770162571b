import{c as a,d as b}from"/console/assets/chunk-ZAKED5LZ.js";import"/console/assets/chunk-Q5R46HJN.js";import"/console/assets/chunk-I2X5GTRI.js";export{b as read,a as signedBody};
